"""The shapes of requests and answers: what the OpenAPI description says. Requests are checked against them; answers are
written as they are, and held against them by the tests."""
