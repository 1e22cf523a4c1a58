//! Tests over real sockets on the loopback interface.

use tokio::io::AsyncReadExt;
use tokio::task::JoinHandle;

use super::*;
use crate::client::Client;
use crate::protocol::messages::ApiVersionsRequest;
use crate::server::testing::{Setup, World, play_machine};

struct Served {
    address: std::net::SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
    shared: Arc<Shared>,
}

async fn serve_with(setup: Setup) -> (Served, crate::runtime::detached::Inbox) {
    let world = World::with(setup);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (shared, stop) = (world.shared, world.stop);
    let task = tokio::spawn(serve(listener, Arc::clone(&shared), stop.clone()));
    (Served { address, stop, task, shared }, world.inbox)
}

impl Served {
    async fn client(&self) -> Client {
        let mut client = Client::connect(self.address).await.unwrap();
        client.set_timeout(Duration::from_secs(20));
        client
    }
}

fn setup(max_connections: i32, per_ip: i32) -> Setup {
    let mut setup = Setup::default();
    setup.config.max_connections = max_connections;
    setup.config.max_connections_per_ip = per_ip;
    setup
}

#[tokio::test]
async fn clients_are_served_until_the_server_stops_and_then_none_is_left() {
    let (served, inbox) = serve_with(Setup::default()).await;
    let machine = play_machine(inbox, |input| panic!("{input:?}"));
    let (mut first, mut second) = (served.client().await, served.client().await);
    for client in [&mut first, &mut second] {
        client.send(ApiVersionsRequest::default(), 0).await.unwrap();
    }
    served.stop.cancel();
    served.task.await.unwrap();
    assert!(first.read_frame().await.is_err());
    assert!(Client::connect(served.address).await.is_err(), "the port is free again");
    drop(served.shared);
    machine.await.unwrap();
}

#[tokio::test]
async fn beyond_max_connections_a_client_waits_until_another_leaves() {
    let (served, _inbox) = serve_with(setup(1, 10)).await;
    let mut first = served.client().await;
    first.send(ApiVersionsRequest::default(), 0).await.unwrap();
    let mut second = served.client().await;
    second.submit(ApiVersionsRequest::default(), 0).await.unwrap();
    second.set_timeout(Duration::from_millis(50));
    assert!(second.read_frame().await.is_err(), "it is in the listen queue");
    second.set_timeout(Duration::from_secs(20));
    drop(first);
    second.receive().await.unwrap();
}

#[tokio::test]
async fn beyond_the_limit_of_an_address_a_connection_is_closed_at_once() {
    let (served, _inbox) = serve_with(setup(10, 1)).await;
    let mut first = served.client().await;
    first.send(ApiVersionsRequest::default(), 0).await.unwrap();
    let mut second = TcpStream::connect(served.address).await.unwrap();
    assert_eq!(second.read_u8().await.unwrap_err().kind(), std::io::ErrorKind::UnexpectedEof);
    first.send(ApiVersionsRequest::default(), 0).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_end_delays_the_stop_only_so_long() {
    let (served, mut inbox) = serve_with(Setup::default()).await;
    let mut client = served.client().await;
    let heartbeat = crate::protocol::samples::request(crate::protocol::ApiKey::StreamsGroupHeartbeat, 1);
    client.submit(heartbeat, 1).await.unwrap();
    let parked = inbox.next().await;
    let since = tokio::time::Instant::now();
    served.stop.cancel();
    served.task.await.unwrap();
    assert_eq!(since.elapsed(), DRAIN_TIMEOUT);
    drop(parked);
    assert!(client.read_frame().await.is_err());
}
