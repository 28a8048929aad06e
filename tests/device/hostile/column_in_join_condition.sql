-- denied: keyboard_ngrams.secret
SELECT k.age FROM keyboard_ngrams k JOIN health h ON k.secret = h.pulse
