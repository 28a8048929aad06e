-- denied: health.secret
SELECT age FROM keyboard_ngrams LIMIT (SELECT length(max(secret)) FROM health)
