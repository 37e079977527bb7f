import AMQP
import EventLoop
import Testing

@Suite struct ConfirmWindowTests {
    private struct Transcript {
        var window: ConfirmWindow<String>
        var outcomes: [String: PublishOutcome] = [:]
        var now = MonotonicTime(nanoseconds: 0)

        init(countMax: Int = 8, bytesMax: Int = 1000) {
            window = ConfirmWindow(countMax: countMax, bytesMax: bytesMax)
        }

        mutating func send(_ name: String, size: Int = 10, id: String? = nil, key: String = "k") -> UInt64 {
            send(name, .init(exchange: "x", routingKey: key, messageID: id ?? name), size: size)
        }

        mutating func send(_ name: String, _ message: MessageFingerprint, size: Int = 10) -> UInt64 {
            window.sent(name, message, size: size, now: now)
        }

        mutating func returns(_ message: MessageFingerprint) -> Bool {
            window.returned(message, code: 312, text: "NO_ROUTE")
        }

        mutating func confirm(_ number: UInt64, multiple: Bool = false, positive: Bool = true) -> Bool {
            var outcomes: [(String, PublishOutcome)] = []
            defer {
                for (name, outcome) in outcomes {
                    #expect(self.outcomes[name] == nil, "a waiter was notified twice")
                    self.outcomes[name] = outcome
                }
            }
            return window.confirmed(number, multiple: multiple, positive: positive) { outcomes.append(($0, $1)) }
        }
    }

    @Test func eachConfirmCompletesItsPublish() {
        var transcript = Transcript()
        #expect(transcript.send("a") == 1)
        #expect(transcript.send("b") == 2)
        #expect(transcript.send("c") == 3)
        #expect(transcript.window.bytes == 30)
        expect(transcript.confirm(2))
        #expect(transcript.outcomes == ["b": .confirmed])
        expect(transcript.confirm(1, positive: false))
        #expect(transcript.outcomes == ["b": .confirmed, "a": .nacked])
        expect(transcript.confirm(3))
        #expect(transcript.window.isEmpty)
        #expect(transcript.window.bytes == 0)
    }

    @Test func aMultipleConfirmCoversAllUpToItsNumber() {
        var transcript = Transcript()
        for name in ["a", "b", "c", "d"] { _ = transcript.send(name) }
        expect(transcript.confirm(2))
        expect(transcript.confirm(3, multiple: true))
        #expect(transcript.outcomes == ["a": .confirmed, "b": .confirmed, "c": .confirmed])
        expect(transcript.confirm(0, multiple: true))
        #expect(transcript.outcomes.count == 4)
    }

    // The ring buffer grows while publishes are in flight at any position.
    @Test func theWindowHoldsTheLargestNumberInFlight() {
        var transcript = Transcript(countMax: 1000, bytesMax: .max)
        var open: [UInt64: String] = [:]
        func send(_ count: Int) {
            for _ in 0..<count {
                let name = "\(open.keys.max() ?? 0)"
                open[transcript.send(name)] = name
            }
        }
        send(50)
        for number in UInt64(1)...40 { expect(transcript.confirm(number)) }
        send(990)
        #expect(transcript.window.count == 1000)
        #expect(!transcript.window.hasRoom(for: 1))
        for number in open.keys.filter({ $0 > 40 }).sorted().reversed() {
            expect(transcript.confirm(number, positive: !number.isMultiple(of: 3)))
        }
        for (number, name) in open where number > 40 {
            #expect(transcript.outcomes[name] == (number.isMultiple(of: 3) ? .nacked : .confirmed))
        }
        #expect(transcript.window.isEmpty)
    }

    @Test func aReturnChangesTheOutcomeOfTheConfirm() {
        var transcript = Transcript()
        _ = transcript.send("a")
        _ = transcript.send("b")
        expect(transcript.returns(.init(exchange: "x", routingKey: "k", messageID: "a")))
        expect(transcript.confirm(2, multiple: true))
        #expect(transcript.outcomes == ["a": .returned(code: 312, text: "NO_ROUTE"), "b": .confirmed])
    }

    @Test func returnsWithTheSameIDAreMatchedByRouteAndOrder() {
        var transcript = Transcript()
        _ = transcript.send("result", id: "1", key: "result")
        _ = transcript.send("dead", id: "1", key: "dead")
        _ = transcript.send("dead again", id: "1", key: "dead")
        let dead = MessageFingerprint(exchange: "x", routingKey: "dead", messageID: "1")
        expect(transcript.returns(dead))
        expect(transcript.returns(dead))
        expect(!transcript.returns(dead))
        expect(transcript.confirm(3, multiple: true))
        #expect(transcript.outcomes["result"] == .confirmed)
        #expect(transcript.outcomes["dead"] == .returned(code: 312, text: "NO_ROUTE"))
        #expect(transcript.outcomes["dead again"] == .returned(code: 312, text: "NO_ROUTE"))
    }

    // Duplicates of a request have the same message ID, both in their results and in wait queues.
    @Test(arguments: [true, false])
    func returnsWithTheSameIDAndRouteAreMatchedByContent(inHeaders: Bool) {
        var transcript = Transcript()
        func message(_ name: String) -> MessageFingerprint {
            // Without headers, the messages differ only at the beginning of the body.
            MessageFingerprint(
                exchange: "x", routingKey: "k", messageID: "1", headers: inHeaders ? ["name": .string(name)] : [:],
                body: ArraySlice((inHeaders ? "" : name).utf8) + Array(repeating: 1, count: 40))
        }
        for name in ["a", "b", "c"] { _ = transcript.send(name, message(name)) }
        expect(transcript.returns(message("c")))
        expect(
            transcript.returns(message("changed in transit")), "the oldest publish was not found for a changed message")
        expect(transcript.confirm(3, multiple: true))
        let returned = PublishOutcome.returned(code: 312, text: "NO_ROUTE")
        #expect(transcript.outcomes == ["a": returned, "b": .confirmed, "c": returned])
    }

    // A message whose confirm is late is published again unchanged. If the broker refuses the first publish and
    // returns the second publish, the message is in no queue.
    @Test func aReturnBelongsToTheRepeatedPublishAfterALateConfirm() {
        var transcript = Transcript()
        let message = MessageFingerprint(exchange: "x", routingKey: "k", messageID: "1", body: [1])
        _ = transcript.send("first", message)
        transcript.window.giveUpWaiting(sentUntil: transcript.now) { #expect($0 == "first") }
        _ = transcript.send("repeated", message)
        expect(transcript.returns(message))
        expect(transcript.confirm(1, positive: false))
        expect(transcript.confirm(2))
        #expect(transcript.outcomes == ["repeated": .returned(code: 312, text: "NO_ROUTE")])
    }

    @Test func confirmsOfUnknownNumbersAreRefused() {
        var transcript = Transcript()
        expect(!transcript.confirm(1))
        expect(!transcript.confirm(1, multiple: true))
        expect(transcript.confirm(0, multiple: true))
        _ = transcript.send("a")
        expect(!transcript.confirm(0))
        expect(!transcript.confirm(2))
        expect(transcript.confirm(1))
        expect(!transcript.confirm(1))
        expect(!transcript.confirm(UInt64.max, multiple: true))
    }

    @Test func roomIsCountedInMessagesAndBytes() {
        var transcript = Transcript(countMax: 3, bytesMax: 100)
        #expect(transcript.window.hasRoom(for: 1000), "an empty window has no room for a large message")
        _ = transcript.send("a", size: 60)
        #expect(transcript.window.hasRoom(for: 40))
        #expect(!transcript.window.hasRoom(for: 41))
        _ = transcript.send("b", size: 20)
        _ = transcript.send("c", size: 20)
        #expect(!transcript.window.hasRoom(for: 0))
        expect(transcript.confirm(2))
        #expect(!transcript.window.hasRoom(for: 0), "a confirm behind an open publish released its number")
        expect(transcript.confirm(1))
        #expect(transcript.window.hasRoom(for: 80))
    }

    @Test func aLateConfirmIsReportedOnceAndKeepsItsRoom() {
        var transcript = Transcript(countMax: 4)
        _ = transcript.send("a")
        transcript.now = MonotonicTime(nanoseconds: 5)
        _ = transcript.send("b")
        var late: [String] = []
        transcript.window.giveUpWaiting(sentUntil: MonotonicTime(nanoseconds: 4)) { late.append($0) }
        #expect(late == ["a"])
        #expect(transcript.window.oldestAwaitedSentAt() == MonotonicTime(nanoseconds: 5))
        #expect(transcript.window.oldestSentAt == MonotonicTime(nanoseconds: 0))
        #expect(transcript.window.count == 2)
        expect(transcript.confirm(2, multiple: true))
        #expect(transcript.outcomes == ["b": .confirmed])
        #expect(transcript.window.isEmpty)
        #expect(transcript.window.oldestAwaitedSentAt() == nil)
        _ = transcript.send("c")
        #expect(
            transcript.window.oldestAwaitedSentAt() == MonotonicTime(nanoseconds: 5), "the new publish was not found")
    }

    @Test func theOldestPublishWithAWaiterIsFound() {
        var transcript = Transcript(countMax: 4)
        for number in 1...6 {
            if number == 5 { expect(transcript.confirm(2, multiple: true)) }
            transcript.now = MonotonicTime(nanoseconds: Int64(number))
            _ = transcript.send("\(number)")
        }
        #expect(transcript.window.oldestAwaitedSentAt() == MonotonicTime(nanoseconds: 3))
        var late: [String] = []
        transcript.window.giveUpWaiting(sentUntil: MonotonicTime(nanoseconds: 4)) { late.append($0) }
        #expect(late == ["3", "4"])
    }

    @Test func theLossOfTheChannelCompletesAllAndRestartsTheNumbers() {
        var transcript = Transcript()
        _ = transcript.send("a")
        _ = transcript.send("b")
        expect(transcript.confirm(1))
        var lost: [String] = []
        transcript.window.reset { lost.append($0) }
        #expect(lost == ["b"])
        #expect(transcript.send("c") == 1)
        expect(transcript.confirm(1))
        #expect(transcript.window.oldestSentAt == nil)
    }

    @Test func aReturnEndsWithItsChannel() {
        var transcript = Transcript()
        _ = transcript.send("before")
        expect(transcript.returns(.init(exchange: "x", routingKey: "k", messageID: "before")))
        transcript.window.reset { _ in }
        #expect(transcript.send("after") == 1)
        expect(transcript.confirm(1))
        #expect(transcript.outcomes == ["after": .confirmed])
    }

    // A waiter that was already notified of a late confirm may no longer exist.
    @Test func waitersOfLateConfirmsAreNotAnnounced() {
        var transcript = Transcript()
        for name in ["a", "b", "c"] { _ = transcript.send(name) }
        transcript.now = MonotonicTime(nanoseconds: 1)
        for name in ["d", "e"] { _ = transcript.send(name) }
        transcript.window.giveUpWaiting(sentUntil: MonotonicTime(nanoseconds: 0)) { _ in }
        var announced: [String] = []
        _ = transcript.window.confirmed(1, multiple: false, positive: true) {
            announced.append($0)
        } _: {
            announced.append("\($0) is \($1)")
        }
        #expect(announced == ["e"])
    }

    @Test func waitersOfTheNextConfirmsAreAnnounced() {
        var transcript = Transcript()
        for name in ["a", "b", "c", "d", "e", "f", "g"] { _ = transcript.send(name) }
        expect(transcript.confirm(5))
        var announced: [String] = []
        func confirm(_ number: UInt64, multiple: Bool) -> [String] {
            announced = []
            _ = transcript.window.confirmed(number, multiple: multiple, positive: true) {
                announced.append($0)
            } _: {
                announced.append("\($0) is \($1)")
            }
            return announced
        }
        #expect(confirm(1, multiple: false) == ["a is confirmed"])
        #expect(
            confirm(4, multiple: true) == ["f", "b is confirmed", "g", "c is confirmed", "d is confirmed"])
        #expect(confirm(7, multiple: true) == ["f is confirmed", "g is confirmed"])
    }

    /// Compares the window with a broker that confirms in any order, sometimes with `multiple`.
    @Test(arguments: 0..<20)
    func eachWaiterIsNotifiedOnceInAnyOrder(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let isLong = seed.isMultiple(of: 2)
        var transcript = Transcript(countMax: isLong ? 400 : 50, bytesMax: .max / 2)
        var open: [UInt64] = []
        var sent = 0
        for _ in 0..<5000 {
            if random.chance(percent: 60), transcript.window.hasRoom(for: 1) {
                sent += 1
                open.append(transcript.send("\(sent)"))
            } else if !open.isEmpty {
                let number = open[random.below(open.count)]
                let multiple = random.chance(percent: isLong ? 1 : 20)
                expect(transcript.confirm(number, multiple: multiple))
                open.removeAll { multiple ? $0 <= number : $0 == number }
                #expect(transcript.window.count == open.count)
            }
        }
        expect(transcript.confirm(0, multiple: true))
        #expect(transcript.outcomes.count == sent)
    }
}
