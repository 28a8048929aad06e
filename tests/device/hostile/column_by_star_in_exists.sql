-- denied: identifies an event
SELECT age FROM keyboard_ngrams WHERE EXISTS (SELECT * FROM health)
