-- denied: health.*
SELECT age FROM keyboard_ngrams WHERE EXISTS (SELECT 1 FROM health)
