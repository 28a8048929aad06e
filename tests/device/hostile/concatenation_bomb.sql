-- too large: too big
SELECT x||x||x||x||x||x||x||x FROM (SELECT x||x||x||x||x||x||x||x AS x FROM (SELECT x||x||x||x||x||x||x||x AS x FROM (SELECT ngram||ngram||ngram||ngram||ngram||ngram||ngram||ngram AS x FROM keyboard_ngrams)))
