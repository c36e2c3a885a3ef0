"""The website of a believable heritage charity, made with Wagtail."""
