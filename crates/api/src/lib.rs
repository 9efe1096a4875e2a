//! HTTP API: routes by audience, auth, SSE, OpenAPI; serves the built web app.
