-- denied: event_id
SELECT event_id FROM keyboard_ngrams
