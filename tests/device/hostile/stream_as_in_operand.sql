-- denied: health.event_id
SELECT age FROM keyboard_ngrams WHERE age IN health
