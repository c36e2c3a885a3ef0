"""The report of evaluations: one HTML page, tables as CSV and LaTeX, everything as JSON.

``files.write_report_files`` writes all of them; each form can also be made by itself from the same ``ReportTable``s.
"""
