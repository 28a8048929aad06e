-- malformed: no such column
SELECT "not a column" FROM keyboard_ngrams
