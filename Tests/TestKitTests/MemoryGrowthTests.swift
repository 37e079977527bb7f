import TestKit
import Testing

@Suite struct MemoryGrowthTests {
    private func growth(_ megabytes: [Double]) -> MemoryGrowth {
        var growth = MemoryGrowth(of: 20)
        for (index, megabytes) in megabytes.enumerated() { growth.add(done: Double(index + 1), megabytes: megabytes) }
        return growth
    }

    @Test func theLastSampleIsComparedWithTheFirstAfterATenth() {
        #expect(growth([1, 50, 90, 55]).factor == 1.1)
        #expect(growth([1, 50, 90, 55]).isSteady)
        #expect(!growth([1, 50, 40, 55.1]).isSteady)
        #expect(growth([1, 50, 20]).isSteady)
    }

    @Test(arguments: [[], [50], [50, 50], [0, 0, 0]]) func tooFewSamplesGiveNoFactor(megabytes: [Double]) {
        #expect(growth(megabytes).factor == nil)
        #expect(!growth(megabytes).isSteady)
    }
}
