-- denied: keyboard_ngrams.secret
WITH s(x) AS (SELECT secret FROM keyboard_ngrams) SELECT x FROM s
