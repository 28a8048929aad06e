-- denied: keyboard_ngrams.secret
SELECT CASE WHEN secret > 'm' THEN 1 ELSE 0 END FROM keyboard_ngrams
