import Testing

@testable import MartletCLI

@Suite struct LineProgressTests {
    @Test func onlyLinesBeforeTheFirstGapCount() {
        var progress = LineProgress(after: 4)
        #expect(progress.last == 4)
        for (line, last) in [(6, 4), (8, 4), (5, 6), (7, 8)] {
            progress.finish(line)
            #expect(progress.last == last)
        }
    }

    @Test func aFailedLineStopsTheProgress() {
        var progress = LineProgress(after: 0)
        progress.finish(5)
        progress.leave(6)
        #expect(progress.hasGap && progress.last == 0)
        progress.leave(3)
        for line in [7, 4, 2, 1] { progress.finish(line) }
        #expect(progress.last == 2)
    }
}
