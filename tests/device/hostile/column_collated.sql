-- denied: the policy does not allow
SELECT age FROM keyboard_ngrams WHERE secret COLLATE NOCASE = 'S'
