-- denied: keyboard_ngrams.event_time
SELECT age FROM keyboard_ngrams WHERE event_time > 0
