-- denied: total_changes
SELECT total_changes()
