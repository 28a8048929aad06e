-- denied: load_extension: not an allowed function
SELECT load_extension('evil.so')
