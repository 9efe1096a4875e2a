//! The OpenAPI document: generated from the routes, served at `/api/openapi.json`, printed by the
//! CLI for those who generate clients.

use axum::http::header;
use axum::routing::get;
use axum::{Json, Router};
use protocol::ProblemBody;
use protocol::routes::{OPENAPI, SESSION_COOKIE};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, OpenApi, RefOr, Response, ResponseBuilder};
use utoipa::{OpenApi as _, PartialSchema, ToSchema};

use crate::routes;
use crate::state::AppState;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Lightspeed",
        description = "An online judge for CUDA kernels. Every error is an \
            `application/problem+json` document; readers ignore fields they do not know."
    ),
    tags(
        (name = "public", description = "What anybody may read."),
        (name = "user", description = "Submissions and their judgings."),
        (name = "worker", description = "What workers say."),
        (name = "operator", description = "What operators may ask."),
    )
)]
struct Base;

/// The whole document.
#[must_use]
pub fn document() -> OpenApi {
    let (_, documented) = routes::documented().split_for_parts();
    complete(documented)
}

pub(crate) fn route(documented: OpenApi) -> Router<AppState> {
    let document = complete(documented);
    Router::new().route(
        OPENAPI,
        get(move || async move {
            let cache = [(header::CACHE_CONTROL, "no-cache")];
            (cache, Json(document))
        }),
    )
}

fn complete(documented: OpenApi) -> OpenApi {
    let mut document = Base::openapi();
    document.merge(documented);
    let components = document.components.get_or_insert_with(Components::new);
    add_security(components);
    let mut referred = vec![(ProblemBody::name().into_owned(), ProblemBody::schema())];
    ProblemBody::schemas(&mut referred);
    components.schemas.extend(referred);
    add_errors(&mut document);
    document
}

fn add_security(components: &mut Components) {
    let bearer = |format: &str| {
        let mut http = Http::new(HttpAuthScheme::Bearer);
        http.bearer_format = Some(format.to_owned());
        SecurityScheme::Http(http)
    };
    components.add_security_scheme("token", bearer("lsp_..."));
    components.add_security_scheme("worker_key", bearer("lsw_..."));
    components.add_security_scheme(
        "session",
        SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(SESSION_COOKIE))),
    );
}

/// Every operation may fail, always with the same body.
fn add_errors(document: &mut OpenApi) {
    let failure: RefOr<Response> = ResponseBuilder::new()
        .description("Not a success: the code says why.")
        .content(
            protocol::error::PROBLEM_JSON,
            ContentBuilder::new()
                .schema(Some(utoipa::openapi::Ref::from_schema_name(
                    ProblemBody::name(),
                )))
                .build(),
        )
        .build()
        .into();
    for item in document.paths.paths.values_mut() {
        for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
            operation
                .responses
                .responses
                .insert("default".to_owned(), failure.clone());
        }
    }
}
