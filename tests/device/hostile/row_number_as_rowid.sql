-- denied: ROWID
SELECT rowid FROM keyboard_ngrams
