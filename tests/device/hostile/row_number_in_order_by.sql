-- denied: ROWID
SELECT age FROM keyboard_ngrams ORDER BY _rowid_
