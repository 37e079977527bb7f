import Testing

@testable import Delivery

/// The publishes of a chunk.
@Suite struct ChunkProgressTests {
    private func sent(_ progress: inout ChunkProgress) -> [Int] {
        var indices: [Int] = []
        while let index = progress.publishNext() { indices.append(index) }
        return indices
    }

    @Test func `Few children are unconfirmed, and each confirm permits the next`() {
        var progress = ChunkProgress(count: 100)
        #expect(sent(&progress) == Array(0..<ChunkProgress.unconfirmedMax))
        progress.confirmed(0)
        progress.confirmed(1)
        #expect(sent(&progress) == [64, 65] && !progress.isFinished)
        for index in 2..<66 { progress.confirmed(index) }
        #expect(sent(&progress) == Array(66..<100))
        for index in 66..<100 { progress.confirmed(index) }
        #expect(progress.isFinished && progress.publishedCount == 100 && progress.firstMissing == nil)
        #expect(!progress.mayRepeat)
    }

    @Test func `A refused child ends the chunk once all outcomes are known`() {
        var progress = ChunkProgress(count: 4)
        _ = sent(&progress)
        progress.confirmed(0)
        progress.missed(2, mayBePublished: false)
        #expect(!progress.isFinished)
        progress.missed(1, mayBePublished: false)
        progress.missed(3, mayBePublished: false)
        #expect(progress.isFinished && progress.publishedCount == 1 && !progress.mayRepeat)
        #expect(progress.confirmedBehindCount == 0)
    }

    @Test(arguments: [true, false])
    func `A published child behind a refused one is published again`(_ isConfirmed: Bool) {
        var progress = ChunkProgress(count: 3)
        _ = sent(&progress)
        progress.missed(0, mayBePublished: false)
        if isConfirmed { progress.confirmed(1) } else { progress.missed(1, mayBePublished: true) }
        progress.missed(2, mayBePublished: false)
        #expect(progress.isFinished && progress.publishedCount == 0 && progress.mayRepeat)
        #expect(progress.confirmedBehindCount == (isConfirmed ? 1 : 0))
    }

    @Test func `Confirmed children on both sides of a refused one are counted`() {
        var progress = ChunkProgress(count: 5)
        _ = sent(&progress)
        for index in [4, 0, 2] { progress.confirmed(index) }
        progress.missed(3, mayBePublished: false)
        progress.missed(1, mayBePublished: false)
        #expect(progress.isFinished && progress.publishedCount == 1 && progress.confirmedBehindCount == 2)
    }

    @Test func `A stopped chunk counts the children that were published`() {
        var progress = ChunkProgress(count: 100)
        _ = sent(&progress)
        progress.stop()
        for index in 0..<64 { progress.confirmed(index) }
        #expect(sent(&progress).isEmpty && progress.isFinished && progress.publishedCount == 64)
        #expect(progress.firstMissing == nil && !progress.mayRepeat && progress.confirmedBehindCount == 0)
    }
}
