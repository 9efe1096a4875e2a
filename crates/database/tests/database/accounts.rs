//! Secrets: minted, kept, revoked; stored as hashes only.

use database::accounts::{
    ensure_local_user, ensure_token, ensure_worker_key, mint_token, revoke_token,
    revoke_worker_key, user_by_token, worker_key,
};
use database_testing::TestDatabase;

use crate::support::now;

#[tokio::test]
async fn a_second_start_keeps_what_the_first_made() {
    let test = TestDatabase::create().await;
    let db = &test.db;
    let user = ensure_local_user(db, "local", now()).await.unwrap();
    assert_eq!(ensure_local_user(db, "local", now()).await.unwrap(), user);
    let token = ensure_token(db, user, "cli", None).await.unwrap();
    let key = ensure_worker_key(db, "local", None).await.unwrap();
    assert!(token.starts_with("lsp_") && key.starts_with("lsw_"));
    assert_eq!(
        ensure_token(db, user, "cli", Some(&token)).await.unwrap(),
        token
    );
    assert_eq!(
        ensure_worker_key(db, "local", Some(&key)).await.unwrap(),
        key
    );
    let found = user_by_token(db, &token).await.unwrap().unwrap();
    assert_eq!((found.id, found.operator), (user, true));
}

#[tokio::test]
async fn credentials_of_another_database_are_adopted() {
    let (first, second) = (TestDatabase::create().await, TestDatabase::create().await);
    let user = ensure_local_user(&first.db, "local", now()).await.unwrap();
    let token = mint_token(&first.db, user, "cli").await.unwrap();
    let user = ensure_local_user(&second.db, "local", now()).await.unwrap();
    assert!(user_by_token(&second.db, &token).await.unwrap().is_none());
    let kept = ensure_token(&second.db, user, "cli", Some(&token))
        .await
        .unwrap();
    assert_eq!(kept, token);
    assert!(user_by_token(&second.db, &token).await.unwrap().is_some());
}

#[tokio::test]
async fn what_is_revoked_or_malformed_is_replaced() {
    let test = TestDatabase::create().await;
    let db = &test.db;
    let user = ensure_local_user(db, "local", now()).await.unwrap();
    let token = mint_token(db, user, "cli").await.unwrap();
    revoke_token(db, &token).await.unwrap();
    assert!(user_by_token(db, &token).await.unwrap().is_none());
    let other = ensure_token(db, user, "cli", Some(&token)).await.unwrap();
    assert_ne!(other, token);

    let key = ensure_worker_key(db, "w", Some("lsw_short")).await.unwrap();
    assert_ne!(key, "lsw_short");
    revoke_worker_key(db, &key).await.unwrap();
    assert!(worker_key(db, &key).await.unwrap().is_none());
    assert_ne!(ensure_worker_key(db, "w", Some(&key)).await.unwrap(), key);
}

#[tokio::test]
async fn no_secret_is_stored() {
    let test = TestDatabase::create().await;
    let user = ensure_local_user(&test.db, "local", now()).await.unwrap();
    mint_token(&test.db, user, "cli").await.unwrap();
    let rows = "SELECT FROM tokens WHERE tokens::text LIKE '%lsp\\_%'";
    assert_eq!(test.execute(rows).await.unwrap(), 0);
    assert_eq!(test.execute("SELECT FROM tokens").await.unwrap(), 1);
}
