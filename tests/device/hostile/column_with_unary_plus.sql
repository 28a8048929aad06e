-- denied: the policy does not allow
SELECT +secret FROM keyboard_ngrams
