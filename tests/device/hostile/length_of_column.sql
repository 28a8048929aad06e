-- denied: the policy does not allow
SELECT length(secret) FROM keyboard_ngrams
