-- denied: identifies an event
SELECT _rowid_ FROM keyboard_ngrams
