//! A socket to serve on: the address that was asked for, or the next free port above it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Ports tried above the one that was asked for.
const TRIES: u16 = 100;

/// Listens on `address`, written `host:port`, on the next free port if that one is taken.
pub(crate) async fn listen(address: &str, terminal: Terminal) -> Result<TcpListener, Failure> {
    let asked: SocketAddr = resolve(address).await?;
    for step in 0..TRIES {
        let Some(port) = asked.port().checked_add(step) else {
            break;
        };
        match TcpListener::bind((asked.ip(), port)).await {
            Ok(listener) => {
                if step > 0 {
                    terminal.say(&format!("{asked} is busy; port {port} is taken instead"));
                }
                return Ok(listener);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {}
            Err(error) => {
                let message = format!("cannot listen on {}:{port}: {error}", asked.ip());
                return Err(Failure::unavailable(
                    message,
                    "choose another with --listen host:port",
                ));
            }
        }
    }
    let message = format!("no free port at or above {asked}");
    Err(Failure::unavailable(
        message,
        "choose another with --listen host:port",
    ))
}

/// The URL under which this machine reaches the socket.
pub(crate) fn url(address: SocketAddr) -> String {
    let host = match address.ip() {
        ip if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(host, address.port()))
}

async fn resolve(address: &str) -> Result<SocketAddr, Failure> {
    let found = tokio::net::lookup_host(address)
        .await
        .ok()
        .and_then(|mut a| a.next());
    found.ok_or_else(|| {
        let message = format!("`{address}` is not an address to listen on");
        Failure::usage(message, "write it as host:port, e.g. 127.0.0.1:8080")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Terminal {
        Terminal {
            json: false,
            quiet: true,
            animated: false,
        }
    }

    #[tokio::test]
    async fn a_busy_port_gives_the_next_free_one() {
        let first = listen("127.0.0.1:0", quiet())
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let holder = listen(&first.to_string(), quiet()).await.unwrap();
        let second = listen(&first.to_string(), quiet()).await.unwrap();
        assert!(second.local_addr().unwrap().port() > holder.local_addr().unwrap().port());
    }

    #[tokio::test]
    async fn nonsense_is_refused() {
        assert_eq!(
            listen("nonsense", quiet()).await.unwrap_err().exit_code(),
            2
        );
    }

    #[test]
    fn a_wildcard_is_reached_by_the_loopback() {
        assert_eq!(url("0.0.0.0:80".parse().unwrap()), "http://127.0.0.1:80");
        assert_eq!(url("[::1]:81".parse().unwrap()), "http://[::1]:81");
    }
}
