-- denied: ROWID
SELECT oid, age FROM keyboard_ngrams
