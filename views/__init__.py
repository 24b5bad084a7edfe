"""Floor 2: the Streamlit pages and the browser session; widgets only, no rules, no drawing."""
