-- denied: event_id: identifies
SELECT * FROM keyboard_ngrams
