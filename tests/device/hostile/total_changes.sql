-- denied: total_changes
SELECT total_changes() FROM keyboard_ngrams WHERE age > 0
