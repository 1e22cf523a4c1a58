//! What is read at once, and what cannot be read.

use super::*;

#[tokio::test]
async fn whole_batches_from_the_one_that_has_the_offset() {
    for tail_bytes in [0, 1_000_000] {
        let (world, orders) = world_with_orders(Setup { tail_bytes, ..Setup::default() });
        for (offset, expected) in [(0, vec![0, 1, 3]), (1, vec![1, 3]), (2, vec![1, 3]), (3, vec![3]), (4, vec![])] {
            let response = fetch(&world, 4, by_name("orders", &[(0, offset)])).await;
            assert_eq!(read(&response), [(0, expected.clone())], "from {offset}");
            let data = partitions_of(&response)[0];
            assert_eq!((data.high_watermark, data.last_stable_offset, data.log_start_offset), (4, 4, 0));
            let response = fetch(&world, 13, by_id(orders, &[(0, offset)])).await;
            assert_eq!(read(&response), [(0, expected)]);
            assert_eq!(topic_id(response.responses[0].topic_id), orders);
        }
    }
}

#[tokio::test]
async fn an_offset_outside_the_log_is_out_of_range() {
    let (mut world, orders) = world_with_orders(Setup::default());
    world.raise_log_start(partition(orders, 0), 1);
    for offset in [-1, 0, 5] {
        let response = fetch(&world, 12, by_name("orders", &[(0, offset)])).await;
        let data = partitions_of(&response)[0];
        assert_eq!((data.error_code, data.high_watermark, data.log_start_offset), (1, -1, -1), "{offset}");
        assert_eq!((data.last_stable_offset, &data.aborted_transactions), (-1, &None));
    }
    assert_eq!(read(&fetch(&world, 12, by_name("orders", &[(0, 1)])).await), [(0, vec![1, 3])]);
}

#[tokio::test]
async fn unknown_topics_and_partitions_are_errors_of_their_own() {
    let (world, orders) = world_with_orders(Setup::default());
    let mut request = by_name("orders", &[(7, 0), (-1, 0), (1, 0)]);
    request.topics.push(by_name("missing", &[(0, 0)]).topics.remove(0));
    let response = fetch(&world, 12, request).await;
    assert_eq!(errors_of(&response), [(7, 3), (-1, 3), (1, 0), (0, 3)]);
    assert_eq!(partitions_of(&response)[0].aborted_transactions, Some(Vec::new()), "as Kafka has it");

    let mut request = by_id(orders, &[(7, 0)]);
    request.topics.push(by_id(TopicId::from_bytes([99; 16]), &[(0, 0)]).topics.remove(0));
    assert_eq!(errors_of(&fetch(&world, 13, request).await), [(7, 3), (0, 100)]);
}

#[tokio::test]
async fn leader_epochs_are_checked_and_a_longer_log_of_the_client_diverges() {
    let (world, _) = world_with_orders(Setup::default());
    let ask = |current: i32, last: i32, offset: i64| {
        let mut request = by_name("orders", &[(0, offset)]);
        request.topics[0].partitions[0].current_leader_epoch = current;
        request.topics[0].partitions[0].last_fetched_epoch = last;
        fetch(&world, 12, request)
    };
    let error = |response: &FetchResponse| partitions_of(response)[0].error_code;
    assert_eq!(error(&ask(3, -1, 0).await), 75);
    assert_eq!(error(&ask(0, 0, 4).await), 0);
    assert_eq!(error(&ask(-1, 1, 0).await), 1);
    let response = ask(-1, 0, 5).await;
    let data = partitions_of(&response)[0];
    assert_eq!((data.error_code, data.high_watermark), (0, 4));
    assert_eq!((data.diverging_epoch.epoch, data.diverging_epoch.end_offset), (0, 4));
}

#[tokio::test]
async fn a_replica_is_sent_elsewhere() {
    let (world, orders) = world_with_orders(Setup::default());
    let mut request = by_name("orders", &[(0, 0)]);
    request.replica_id = 5;
    assert_eq!(errors_of(&fetch(&world, 12, request).await), [(0, 6)]);
    let mut request = by_id(orders, &[(0, 0)]);
    request.replica_state.replica_id = 5;
    assert_eq!(errors_of(&fetch(&world, 17, request).await), [(0, 6)]);
}

#[tokio::test]
async fn read_committed_has_an_empty_list_of_aborted_transactions_and_otherwise_there_is_none() {
    let (world, _) = world_with_orders(Setup::default());
    let mut request = by_name("orders", &[(0, 0)]);
    request.isolation_level = 1;
    let response = fetch(&world, 12, request).await;
    assert_eq!(partitions_of(&response)[0].aborted_transactions, Some(Vec::new()));
    assert_eq!(read(&response), [(0, vec![0, 1, 3])]);
    let response = fetch(&world, 12, by_name("orders", &[(0, 0)])).await;
    assert_eq!(partitions_of(&response)[0].aborted_transactions, None);
}

#[tokio::test]
async fn limits_cut_between_batches_but_the_first_batch_of_all_is_always_given() {
    for tail_bytes in [0, 1_000_000] {
        let (mut world, orders) = world_with_orders(Setup { tail_bytes, ..Setup::default() });
        world.append(partition(orders, 1), &["e"]);
        let ask = |max_bytes: i32, of_partition: i32| {
            let mut request = by_name("orders", &[(1, 0), (0, 0)]);
            request.max_bytes = max_bytes;
            request.topics[0].partitions.iter_mut().for_each(|part| part.partition_max_bytes = of_partition);
            fetch(&world, 12, request)
        };
        // A batch of one record has 71 bytes, one of two 81.
        let size = |response: &FetchResponse, index: usize| {
            partitions_of(response)[index].records.as_ref().map_or(0, bytes::Bytes::len)
        };
        assert_eq!(read(&ask(0, 1_000_000).await), [(1, vec![0]), (0, vec![])]);
        assert_eq!(read(&ask(1_000_000, 0).await), [(1, vec![0]), (0, vec![])]);
        let all = ask(1_000_000, 1_000_000).await;
        assert_eq!(read(&all), [(1, vec![0]), (0, vec![0, 1, 3])]);
        let (one, three) = (size(&all, 0), size(&all, 1));
        let limit = |bytes: usize| i32::try_from(bytes).unwrap();
        assert_eq!(read(&ask(limit(one + three) - 1, 1_000_000).await), [(1, vec![0]), (0, vec![0, 1])]);
        assert_eq!(read(&ask(1_000_000, limit(three) - 1).await), [(1, vec![0]), (0, vec![0, 1])]);
        assert_eq!(read(&ask(-1, -1).await), [(1, vec![0]), (0, vec![])]);
    }
}

#[tokio::test]
async fn fetch_max_bytes_of_the_server_is_a_limit_too() {
    let mut setup = Setup::default();
    setup.config.fetch_max_bytes = 1024;
    let (mut world, orders) = world_with_orders(setup);
    world.append(partition(orders, 1), &[&"x".repeat(900)]);
    let response = fetch(&world, 12, by_name("orders", &[(1, 0), (0, 0)])).await;
    assert_eq!(read(&response), [(1, vec![0]), (0, vec![])]);
}

#[tokio::test]
async fn what_is_on_its_way_to_clients_is_bounded_and_given_back() {
    let (world, _) = world_with_orders(Setup { fetch_memory_bytes: 3_000_000, ..Setup::default() });
    let free = || world.shared.fetch_memory.free_bytes();
    let ask = || answer_of(start(&world.context(12), by_name("orders", &[(0, 0)])));
    let Answer::Large(_, share) = ask().await else { panic!() };
    assert_eq!(free(), 3_000_000 - share.bytes(), "only what was read is still taken");
    assert!(share.bytes() < 300);

    let all = world.shared.fetch_memory.try_take(free()).unwrap();
    let mut waiting = Box::pin(ask());
    assert!(futures_util::FutureExt::now_or_never(&mut waiting).is_none(), "no memory, no reading");
    drop(all);
    let Answer::Large(second, _) = waiting.await else { panic!() };
    assert!(matches!(second, Response::Fetch(_)));
    drop(share);
    assert_eq!(free(), 3_000_000);
}
