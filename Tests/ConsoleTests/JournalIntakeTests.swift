import History
import Testing

@testable import Console

/// The messages between the stream and the index.
@Suite struct JournalIntakeTests {
    private func message(_ offset: Int64, _ bytes: Int = 1, _ byte: UInt8 = 1) -> HistoryMessage {
        HistoryMessage(offset: offset, body: [UInt8](repeating: byte, count: bytes))
    }

    @Test func `A reader continues at the last message, which is ignored`() {
        var intake = JournalIntake(nextOffset: 8)
        #expect(intake.lastOffset == 7)
        #expect(intake.receive(message(7)) == .repeated && intake.isEmpty)
        #expect(intake.receive(message(8)) == .added && intake.lastOffset == 8)
        #expect(intake.receive(message(8)) == .repeated)
        #expect(intake.transaction.map(\.offset) == [8])
        #expect(JournalIntake(nextOffset: 0).lastOffset == nil)
    }

    @Test func `Another message at a known offset is of another stream`() {
        var intake = JournalIntake(nextOffset: nil)
        #expect(intake.receive(message(0)) == .added)
        #expect(intake.receive(message(0, 1, 2)) == .otherStream)
    }

    @Test func `Waiting messages and transactions are bounded`() {
        var intake = JournalIntake(nextOffset: nil)
        var offset: Int64 = 0
        while !intake.isFull {
            #expect(intake.receive(message(offset, 1 << 20)) == .added)
            offset += 1
        }
        #expect(offset == 8 && !intake.hasRoom)
        #expect(intake.transaction.count == 4)
        intake.removeFirst(4)
        #expect(!intake.hasRoom)
        intake.removeFirst(2)
        #expect(intake.hasRoom && intake.waitingBytes == 2 << 20)
        #expect(intake.transaction.map(\.offset) == [6, 7])
    }
}
