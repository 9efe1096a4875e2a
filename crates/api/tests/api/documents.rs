//! The OpenAPI document, which clients are generated from.

use protocol::routes;

use crate::support::Context;

#[test]
fn the_document_is_the_one_reviewed() {
    let document = serde_json::to_value(api::openapi()).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    insta::assert_json_snapshot!("openapi", document);
}

#[tokio::test]
async fn the_document_is_served() {
    let ctx = Context::start().await;
    let served = ctx.get(routes::OPENAPI).send().await.expect_status(200);
    assert_eq!(served.json(), serde_json::to_value(api::openapi()).unwrap());
    ctx.end().await;
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    let document = serde_json::to_value(api::openapi()).unwrap();
    let mut missing = Vec::new();
    visit(&document, &mut |reference| {
        let pointer = reference.trim_start_matches('#');
        if document.pointer(pointer).is_none() {
            missing.push(reference.to_owned());
        }
    });
    assert_eq!(missing, Vec::<String>::new());
}

fn visit(value: &serde_json::Value, on_reference: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(|r| r.as_str()) {
                on_reference(reference);
            }
            fields.values().for_each(|value| visit(value, on_reference));
        }
        serde_json::Value::Array(items) => {
            items.iter().for_each(|value| visit(value, on_reference));
        }
        _ => {}
    }
}
