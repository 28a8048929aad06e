-- denied: the policy does not allow
SELECT max(age), secret FROM keyboard_ngrams
