-- denied: identifies an event
SELECT "OiD" FROM keyboard_ngrams
