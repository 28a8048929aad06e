-- denied: keyboard_ngrams.secret: the policy
SELECT secret FROM keyboard_ngrams
