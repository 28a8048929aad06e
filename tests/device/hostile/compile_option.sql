-- denied: sqlite_compileoption_used
SELECT sqlite_compileoption_used('ENABLE_STAT4') FROM keyboard_ngrams WHERE age > 0
