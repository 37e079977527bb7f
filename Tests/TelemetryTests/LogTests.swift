import CLinux
import Glibc
import Telemetry
import Testing

@Suite struct LogTests {
    @Test func `A line is one JSON object with time, level, message and metadata in order`() throws {
        let pipe = try Pipe()
        let log = Log(level: .info, descriptor: pipe.writing)
        log.info(
            .workerReady,
            [
                .lanes: 2, .amqpQueue: "com.example.app", .accepted: .integer(-7), .memoryBytes: .number(0.5),
                .unknown: true,
            ])
        #expect(log.flush())

        let line = pipe.read()
        #expect(
            line.hasSuffix(
                #"","level":"info","event":"worker.ready","message":"ready","lanes":2,"amqp.queue":"com.example.app","message.accepted":-7,"#
                    + #""process.memory_bytes":0.5,"message.unknown":true}"# + "\n"))
        let time = try #require(
            line.wholeMatch(of: /\{"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"[^\n]*\n/)?.output.1)
        #expect(time > "2026-01-01" && time < "2200")
    }

    @Test func `A peer's text is escaped within its string`() throws {
        let pipe = try Pipe()
        let log = Log(level: .debug, descriptor: pipe.writing)
        log.error(.brokerLost, [.error: "a\"b\\c\nd\te\u{0}f\u{1B}[31mg\u{7F}h\u{9B}iüj\u{1F426}k\u{202E}l\u{E0001}"])
        log.error(.workerStopped, [.memoryBytes: .number(.infinity)])
        log.flush()
        let text = pipe.read()
        #expect(text.contains(#""error":"a\"b\\c\nd\te\u0000f\u001b[31mg\u007fh\u009biüj🐦k\u202el\udb40\udc01"}"#))
        #expect(text.contains(#""process.memory_bytes":"inf"}"#))
        #expect(text.split(separator: "\n").count == 2)
    }

    @Test func `A long value is truncated`() throws {
        let pipe = try Pipe()
        let log = Log(level: .debug, descriptor: pipe.writing)
        log.error(.brokerLost, [.error: .string(String(repeating: "ü", count: 50_000))])
        log.flush()
        let line = pipe.read()
        #expect(line.hasSuffix("ü…\"}\n") && line.utf8.count < 4300)
    }

    @Test func `Metadata below the threshold is not evaluated`() throws {
        let pipe = try Pipe()
        let log = Log(level: .warning, descriptor: pipe.writing)
        func touched() -> LogValue {
            Issue.record("metadata below the threshold was evaluated")
            return 1
        }
        log.debug(.workerReady, [.lanes: touched()])
        log.info(.workerReady, [.lanes: touched()])
        Log.silent.error(.workerReady, [.lanes: touched()])
        log.warning(.workerNotReady, [.lane: 1, .error: nil])
        log.flush()
        #expect(pipe.read().hasSuffix(#""message":"not ready","lane":1}"# + "\n"))
    }

    @Test func `A stalled reader loses lines without delay, and their number is logged`() throws {
        let pipe = try Pipe()
        pipe.fill()
        let log = Log(level: .info, descriptor: pipe.writing, queueBytesMax: 10_000)
        for number in 0..<5_000 { log.info(.workerSummary, [.lanes: .integer(number)]) }
        #expect(log.droppedCount > 0)
        #expect(!log.flush(withinMilliseconds: 20))

        // Every line is either written or counted. The writer reports the count in one or more lines.
        var text = ""
        func written() -> Int { text.split(separator: "\n").count { $0.contains(#""event":"worker.summary""#) } }
        func reportedDrops() -> Int {
            text.matches(of: /"level":"warning"[^\n]*"log\.dropped":(\d+)/).reduce(0) { $0 + (Int($1.output.1) ?? 0) }
        }
        while written() + reportedDrops() < 5_000 { text += pipe.read() }
        #expect(written() + reportedDrops() == 5_000 && reportedDrops() > 4_000)
        #expect(log.flush() && log.droppedCount == reportedDrops())
    }

    @Test func `A closed or missing reader does not block the log`() throws {
        let pipe = try Pipe()
        pipe.closeReading()
        for descriptor in [pipe.writing, -1] {
            let log = Log(level: .info, descriptor: descriptor)
            for _ in 0..<100 { log.info(.workerSummary) }
            #expect(log.flush())
        }
    }

    @Test func `Lines of concurrent writers are not interleaved`() async throws {
        let pipe = try Pipe()
        let log = Log(level: .info, descriptor: pipe.writing)
        await withTaskGroup { group in
            for writer in 0..<8 {
                group.addTask {
                    for number in 0..<50 {
                        log.info(.workerSummary, [.lane: .integer(writer), .lanes: .integer(number)])
                    }
                }
            }
        }
        let text = pipe.drain(lines: 400)
        for writer in 0..<8 {
            let mine = text.split(separator: "\n").filter { $0.contains(#""lane":\#(writer),"#) }
            #expect(mine.count == 50)
            for (number, line) in mine.enumerated() { #expect(line.hasSuffix(#""lanes":\#(number)}"#)) }
        }
    }

    @Test(arguments: [
        ("00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0", "00fc13ad…"),
        ("ABCDEF0123456789", "ABCD…"),
        ("secret", "?…"), ("abc", "…"), ("", "…"), ("xyz{\"}0000000000000000000000000000", "??????00…"),
    ])
    func `A short token never shows the whole token`(token: String, shown: String) {
        #expect(ShortToken(token).description == shown)
    }

    // Alerts and the documentation refer to event codes.
    @Test func `Event codes have one form, and codes and messages are unique`() {
        let codes = LogEvent.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        #expect(Set(LogEvent.allCases.map { "\($0.message)" }).count == codes.count)
        for code in codes { #expect(code.wholeMatch(of: /[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*/) != nil, "\(code)") }
    }

    @Test func `Levels have names`() {
        #expect(LogLevel.allCases.map(\.description) == ["debug", "info", "warning", "error"])
        #expect(LogLevel("warning") == .warning && LogLevel("loud") == nil)
    }
}
