use super::*;
use crate::plan::hosts::free_addresses;

fn meeting(seconds: f64) -> Meeting {
    Meeting { place: free_addresses(1).unwrap().remove(0), within: Duration::from_secs_f64(seconds) }
}

fn arrival(process: usize, processes: usize) -> Arrival {
    Arrival::new(process, processes, "p".to_owned(), Ok(1000 + process as u16))
}

/// What the first process and each of the others get, and how long it took.
fn meet(meeting: &Meeting, all: Vec<Arrival>) -> (Result<Vec<String>, String>, Vec<Met>, Duration) {
    let began = Instant::now();
    let listener = meeting.open().unwrap();
    let (held, met) = std::thread::scope(|scope| {
        let mut all = all.into_iter();
        let first = all.next().unwrap();
        let others: Vec<_> = all.map(|own| scope.spawn(move || meeting.attend(&own))).collect();
        let held = meeting.hold(&listener, first);
        (held, others.into_iter().map(|other| other.join().unwrap()).collect())
    });
    (held, met, began.elapsed())
}

#[test]
fn everyone_learns_where_everyone_is() {
    let meeting = meeting(20.0);
    let (held, met, _) = meet(&meeting, (0..12).map(|process| arrival(process, 12)).collect());
    let expected: Vec<String> = (0..12).map(|process| format!("127.0.0.1:{}", 1000 + process)).collect();
    assert_eq!(held, Ok(expected.clone()));
    assert_eq!(met, vec![Met::Addresses(expected); 11]);
}

#[test]
fn what_is_wrong_is_said_once_and_ends_everyone_soon() {
    let wrong = |wrong: Arrival, words: &str| {
        let (held, met, took) = meet(&meeting(60.0), vec![arrival(0, 3), wrong, arrival(2, 3)]);
        let said = held.unwrap_err();
        assert!(said.contains(words), "{said}");
        assert_eq!(met, [Met::SaidElsewhere, Met::SaidElsewhere]);
        assert!(took < 3 * SOON, "{took:?}");
    };
    wrong(Arrival { plan: "q".to_owned(), ..arrival(1, 3) }, "process 1 has another plan than process 0");
    wrong(arrival(1, 4), "process 1 says that there are 4 processes, and process 0 that there are 3");
    wrong(arrival(7, 3), "process 7 says that there are 3 processes");
    wrong(arrival(2, 3), "two processes say that they are process 2");
    wrong(arrival(0, 3), "two processes say that they are process 0");
    let cannot = Arrival::new(1, 3, "p".to_owned(), Err("the folder cannot be written".to_owned()));
    wrong(cannot, "process 1: the folder cannot be written");
}

#[test]
fn who_does_not_come_is_named() {
    let (held, met, took) = meet(&meeting(0.5), vec![arrival(0, 5), arrival(3, 5)]);
    let said = held.unwrap_err();
    assert!(said.contains("3 of 5 processes did not come to 127.0.0.1:"), "{said}");
    assert!(said.contains("within 0 s: 1, 2, 4; all must be started"), "{said}");
    assert_eq!(met, [Met::SaidElsewhere]);
    assert!(took < Duration::from_secs(20));
    let nobody = Meeting { within: Duration::from_millis(200), ..meeting(1.0) };
    let Met::Nobody(why) = nobody.attend(&arrival(1, 2)) else { panic!("nobody is there") };
    assert!(why.contains("the first process was not found at") && why.contains("--rendezvous"), "{why}");
}

/// Strangers say anything, or nothing, or too much; a process that was killed comes again.
#[test]
fn strangers_and_second_attempts_change_nothing() {
    let meeting = meeting(30.0);
    let listener = meeting.open().unwrap();
    std::thread::scope(|scope| {
        let held = scope.spawn(|| meeting.hold(&listener, arrival(0, 3)));
        let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(&meeting.place).unwrap()).collect();
        let long = "x".repeat(3 * LONGEST);
        let other = serde_json::to_string(&Arrival { oneway_meet: 9, ..arrival(1, 3) }).unwrap();
        for said in ["GET / HTTP/1.1\r\n\r\n", "{}\n", "\n", "\0\u{feff}\n", &long, &(other + "\n")] {
            let _ = TcpStream::connect(&meeting.place).unwrap().write_all(said.as_bytes()); // may be cut off
        }
        let mut killed = TcpStream::connect(&meeting.place).unwrap();
        writeln!(killed, "{}", serde_json::to_string(&arrival(1, 3)).unwrap()).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        drop(killed);
        let again = scope.spawn(|| meeting.attend(&Arrival { port: 77, ..arrival(1, 3) }));
        std::thread::sleep(Duration::from_millis(100));
        let last = meeting.attend(&arrival(2, 3));
        let addresses = held.join().unwrap().unwrap();
        assert_eq!(addresses[1], "127.0.0.1:77");
        assert_eq!([again.join().unwrap(), last], [(); 2].map(|()| Met::Addresses(addresses.clone())));
        drop(silent);
    });
}

#[test]
fn a_process_is_found_where_it_came_from() {
    let at = |place: &str| Meeting { place: place.to_owned(), within: SOON };
    let ip = |text: &str| Some(text.parse().unwrap());
    assert_eq!(at("node01:7000").address(ip("10.0.0.2"), 81), "10.0.0.2:81");
    assert_eq!(at("node01:7000").address(ip("::ffff:10.0.0.2"), 81), "10.0.0.2:81");
    assert_eq!(at("node01:7000").address(ip("127.0.1.1"), 81), "node01:81", "others know it by name");
    assert_eq!(at("node01:7000").address(None, 80), "node01:80");
    assert_eq!(at("[fe80::1]:7000").address(None, 80), "[fe80::1]:80");
    assert_eq!(at("x:1").address(ip("fe80::2"), 81), "[fe80::2]:81");
}
