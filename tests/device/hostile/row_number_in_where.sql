-- denied: identifies an event
SELECT age FROM keyboard_ngrams k WHERE k.rowid = 1
