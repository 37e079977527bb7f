import ControlProtocol

/// The numbers in the columns of a line.
enum SegmentLine {
    static let result = 0
    static let wait = 1
    static let duplicateFlag = 1
    static let possibleDuplicateFlag = 2

    static let columns = 21

    static func flags(_ result: ResultRecord) -> Int? {
        let flags =
            (result.isDuplicate ? duplicateFlag : 0) | (result.isPossibleDuplicate ? possibleDuplicateFlag : 0)
        return flags == 0 ? nil : flags
    }
}
