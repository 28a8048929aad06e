-- denied: keyboard_ngrams.secret
SELECT sum(age) FILTER (WHERE secret LIKE 'a%') FROM keyboard_ngrams
