-- denied: health.secret
SELECT (SELECT max(secret) FROM health) FROM keyboard_ngrams
