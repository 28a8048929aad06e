-- denied: last_insert_rowid
SELECT last_insert_rowid() FROM keyboard_ngrams WHERE age > 0
