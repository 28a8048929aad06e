-- denied: health.secret
SELECT age FROM keyboard_ngrams WHERE EXISTS (SELECT pulse FROM health WHERE secret LIKE 'a%')
