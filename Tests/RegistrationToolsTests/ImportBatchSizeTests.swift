import Testing

@testable import RegistrationTools

@Suite struct ImportBatchSizeTests {
    @Test func `Batches grow while they are fast, up to the maximum of the store`() {
        var size = ImportBatchSize(linesMin: 256, linesMax: 1000)
        #expect(size.lines == 256)
        size.batchCompleted(lines: 256, after: .milliseconds(125))
        #expect(size.lines == 512)
        // The store might need more than the maximum for twice as many lines.
        size.batchCompleted(lines: 512, after: .milliseconds(126))
        #expect(size.lines == 512)
        size.batchCompleted(lines: 512, after: .milliseconds(10))
        size.batchCompleted(lines: 1000, after: .milliseconds(10))
        #expect(size.lines == 1000)
    }

    @Test func `Slow batches shrink, down to the minimum`() {
        var size = ImportBatchSize(linesMin: 256, linesMax: 4096)
        for _ in 0..<4 { size.batchCompleted(lines: size.lines, after: .zero) }
        #expect(size.lines == 4096)
        size.batchCompleted(lines: 4096, after: .milliseconds(250))
        #expect(size.lines == 4096)
        for _ in 0..<10 { size.batchCompleted(lines: size.lines, after: .milliseconds(251)) }
        #expect(size.lines == 256)
    }

    @Test func `A small batch, such as the last one, does not change the size`() {
        var size = ImportBatchSize(linesMin: 256, linesMax: 4096)
        size.batchCompleted(lines: 255, after: .zero)
        #expect(size.lines == 256)
    }

    @Test func `A store without larger batches keeps the minimum`() {
        var size = ImportBatchSize(linesMin: 256, linesMax: 256)
        size.batchCompleted(lines: 256, after: .zero)
        #expect(size.lines == 256)
    }
}
