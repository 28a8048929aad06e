-- too large: SELECTs
SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT x+x AS x FROM (SELECT age AS x FROM keyboard_ngrams))))))))))))
