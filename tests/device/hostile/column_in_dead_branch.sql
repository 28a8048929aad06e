-- denied: keyboard_ngrams.secret
SELECT CASE WHEN 0 THEN secret ELSE age END FROM keyboard_ngrams
