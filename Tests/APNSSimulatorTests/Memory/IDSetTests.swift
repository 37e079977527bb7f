import Crypto
import Testing

@testable import APNSSimulator

@Suite struct IDSetTests {
    @Test func distinguishesNewFromSeen() {
        var ids = IDSet(idsMax: 20_000, seed: 5)
        for number in 0..<5000 as Range<UInt64> {
            #expect(ids.insert(UUIDValue(high: number, low: 0)) == true)
            let isNew = ids.insert(UUIDValue(high: 0, low: number << 32))
            #expect(isNew == (number != 0))
        }
        #expect(ids.count == 9999)
        for number in 0..<5000 as Range<UInt64> {
            #expect(ids.insert(UUIDValue(high: number, low: 0)) == false)
            #expect(ids.contains(UUIDValue(high: 0, low: number << 32)))
        }
        #expect(!ids.contains(UUIDValue(high: 1, low: 1)))
        #expect(ids.forgotten == 0)
    }

    @Test func remembersTheNewest() {
        var ids = IDSet(idsMax: 1000, seed: 5)
        for number in 0..<10_000 as Range<UInt64> {
            #expect(ids.insert(UUIDValue(high: number, low: number)) == true)
            if number >= 500 { #expect(ids.insert(UUIDValue(high: number - 499, low: number - 499)) == false) }
            #expect(ids.count <= 1000)
        }
        #expect(ids.forgotten + ids.count == 10_000)
        #expect(!ids.contains(UUIDValue(high: 0, low: 0)))
        ids.removeAll()
        #expect(ids.count == 0)
        #expect(ids.insert(UUIDValue(high: 9999, low: 9999)) == true)
    }

    @Test func acceptsTheSmallestLimits() {
        var ids = IDSet(idsMax: 0, seed: 5)
        #expect(ids.insert(UUIDValue(high: 0, low: 0)) == true)
        #expect(ids.insert(UUIDValue(high: 0, low: 0)) == false)
        #expect(ids.insert(UUIDValue(high: 0, low: 1)) == true)
        #expect(ids.insert(UUIDValue(high: 0, low: 0)) == false, "the ID in the older generation was not found")
        #expect(ids.insert(UUIDValue(high: 0, low: 2)) == true)
        #expect(ids.insert(UUIDValue(high: 0, low: 0)) == true, "the discarded ID was found")
    }
}

@Suite struct DuplicateListTests {
    @Test func countsEachIDAndKeepsTheNewest() {
        var list = DuplicateList()
        func duplicate(_ low: UInt64, number: Int) -> DuplicateID {
            DuplicateID(
                id: UUIDValue(high: 0, low: low), number: number, connection: 1, unixMilliseconds: Int64(number))
        }
        list.add(duplicate(1, number: 5))
        list.add(duplicate(2, number: 6))
        list.add(duplicate(1, number: 7))
        #expect(list.all.map { "\($0.id.low) \($0.times) \($0.number)" } == ["1 3 7", "2 2 6"])
        for low in 3...1001 as ClosedRange<UInt64> { list.add(duplicate(low, number: 8)) }
        #expect(list.all.count == DuplicateList.idsMax)
        #expect(list.all.first?.id.low == 2 && list.all.last?.id.low == 1001)
        list.add(duplicate(1, number: 9))
        #expect(list.all.last.map { "\($0.id.low) \($0.times)" } == "1 2", "the dropped ID did not count as new")
        list.removeAll()
        #expect(list.all.isEmpty)
    }
}
