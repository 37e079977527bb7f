import JSON
import Testing

struct PointerWalkTests {
    private static let text = #"""
        {"a":[1,[],{"b":2,"c":{"d":[3,4],"e/~":5}},[[6],[7,{"f":8}]]],"g":{},"":{"h":[9]},
         "i":"ä"}
        """#

    @Test func allPositionsAreFoundInAnyOrder() throws {
        let document = try JSONDocument(Self.text)
        var known: [(node: Int, pointer: String)] = []
        collect(document.root, "", &known)
        #expect(known.count > 25)
        var walk = JSONPointerWalk(document.root.tape)
        for from in known {
            for to in known {
                walk.go(to: from.node)
                #expect(walk.pointer == from.pointer)
                walk.go(to: to.node)
                #expect(walk.pointer == to.pointer)
                #expect(walk.container.map { document.root.tape.pointer(to: $0) } == outer(to.pointer))
            }
        }
        for nowhere in [-1, 1000] {
            walk.go(to: nowhere)
            #expect(walk.pointer == "" && walk.container == nil)
        }
    }

    @Test func outerPointersArePrefixes() throws {
        let document = try JSONDocument(Self.text)
        let target = try #require(document.root.at(pointer: "/a/2/c/d/1"))
        var walk = JSONPointerWalk(document.root.tape)
        walk.go(to: target.nodeIndex)
        for pointer in ["", "/a", "/a/2", "/a/2/c", "/a/2/c/d", "/a/2/c/d/1"] {
            #expect(walk.pointer(toOuter: try #require(document.root.at(pointer: pointer)).nodeIndex) == pointer)
        }
    }

    @Test func positionsInOnePassEqualSinglePositions() throws {
        let document = try JSONDocument(Self.text)
        let nodes = Array((-1...40).reversed()) + [3, 3]
        #expect(document.positions(ofNodes: nodes) == nodes.map { document.position(ofNode: $0) })
        #expect(document.positions(ofNodes: []) == [])
    }

    private func collect(_ value: JSONValue, _ pointer: String, _ known: inout [(node: Int, pointer: String)]) {
        known.append((value.nodeIndex, pointer))
        for (position, element) in value.elements.enumerated() { collect(element, "\(pointer)/\(position)", &known) }
        for (key, member) in value.members {
            let inner = "\(pointer)/" + JSONValue.pointerToken(key.string ?? "")
            known.append((key.nodeIndex, inner))
            collect(member, inner, &known)
        }
    }

    private func outer(_ pointer: String) -> String? {
        pointer.lastIndex(of: "/").map { String(pointer[..<$0]) }
    }
}
